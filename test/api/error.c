/* SPDX-License-Identifier: MIT */
/* error.c: error codes in words. */
#include "check.h"
#include "weft.h"

#include <errno.h>
#include <string.h>

/* Whatever the library returns, it has words of its own for. */
static void codes_of_the_library(void **state)
{
    static const int codes[] = {EINVAL,    ENOMEM,  EAGAIN,  EALREADY,  EBUSY,
                                ECANCELED, ECHILD,  EDEADLK, ELOOP,     EPERM,
                                EOVERFLOW, ENOTSUP, EPIPE,   ESHUTDOWN, ETIMEDOUT};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_non_null(weft_strerror(-codes[i]));
        assert_string_not_equal(weft_strerror(-codes[i]), strerror(codes[i]));
        assert_null(strchr(weft_strerror(-codes[i]), '\n'));
    }
    assert_non_null(strstr(weft_strerror(-ETIMEDOUT), "deadline"));
    assert_non_null(strstr(weft_strerror(-ECHILD), "parent"));
    assert_string_equal(weft_strerror(0), "no error");
}

/* A job may fail with anything. */
static void other_codes(void **state)
{
    assert_string_equal(weft_strerror(-EIO), strerror(EIO));
    assert_string_equal(weft_strerror(EIO), strerror(EIO));
    assert_string_equal(weft_strerror(ENOMEM), strerror(ENOMEM));
}

/* What is forgotten most often has a hint. */
static void config_without_size(void **state)
{
    weft_config config;
    memset(&config, 0, sizeof config);
    config.workers = 2;
    weft_pool *pool;
    int error = weft_pool_create(&pool, &config);
    assert_int_equal(error, -EINVAL);
    assert_non_null(strstr(weft_strerror(error), "WEFT_CONFIG_INIT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_the_library),
        cmocka_unit_test(other_codes),
        cmocka_unit_test(config_without_size),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}

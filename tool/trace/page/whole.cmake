# SPDX-License-Identifier: MIT
# cmake -D IN=folder -D OUT=whole.html -D SCRIPTS=a.js;b.js -P whole.cmake: page.html with page.css and
# the scripts in the places of @STYLE@ and @SCRIPT@. The browser runs what has the hashes in the page's
# policy, and nothing else.

# base64(out hex): 3 bytes, which are 6 digits of hex, become 4 characters.
function(base64 out hex)
    set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    set(text "")
    string(APPEND hex "00") # SHA-256 has 32 bytes: one is missing in the last group
    foreach(at RANGE 0 65 6)
        string(SUBSTRING ${hex} ${at} 6 digits)
        foreach(shift 18 12 6 0)
            math(EXPR letter "(0x${digits} >> ${shift}) & 63")
            string(SUBSTRING ${letters} ${letter} 1 letter)
            string(APPEND text ${letter})
        endforeach()
    endforeach()
    string(REGEX REPLACE ".$" "=" text ${text})
    set(${out} ${text} PARENT_SCOPE)
endfunction()

file(READ ${IN}/page.html page)
file(READ ${IN}/page.css style)
set(script "")
foreach(file IN LISTS SCRIPTS)
    file(READ ${file} part)
    string(APPEND script "${part}")
endforeach()
foreach(name style script)
    string(TOUPPER ${name} mark)
    # As the browser sees it: all that is in the element.
    string(SHA256 hash "\n${${name}}")
    base64(hash ${hash})
    string(REPLACE "@${mark}_HASH@" "sha256-${hash}" page "${page}")
    string(REPLACE "@${mark}@" "${${name}}" page "${page}")
endforeach()
file(WRITE ${OUT} "${page}")

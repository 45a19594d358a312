# SPDX-License-Identifier: MIT
# awk -v copy=FILE -f apply.awk PATCH SOURCE: writes SOURCE with the patch, a unified diff of this one
# file, to FILE. Line numbers are not looked at: the lines of a hunk have to be in the source, once.
BEGIN { source = "\n" }
NR != FNR { source = source $0 "\n"; next }
/^@@ / { hunks++; next }
hunks == 0 { next }
/^[ -]/ { old[hunks] = old[hunks] substr($0, 2) "\n" }
/^[ +]/ { new[hunks] = new[hunks] substr($0, 2) "\n" }

function refuse(why)
{
    print ARGV[1] " does not apply to " ARGV[2] ": " why > "/dev/stderr"
    exit 1
}

END {
    if (hunks == 0) refuse("it has no hunk")
    for (i = 1; i <= hunks; i++) {
        at = index(source, "\n" old[i])
        if (at == 0) refuse("the lines of hunk " i " are not there")
        rest = substr(source, at + 1)
        if (index(rest, "\n" old[i]) > 0) refuse("the lines of hunk " i " are there more than once")
        source = substr(source, 1, at) new[i] substr(rest, length(old[i]) + 1)
    }
    printf "%s", substr(source, 2) > copy
}

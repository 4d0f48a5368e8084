# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of tunectl for bash. Verbs and options come from `tunectl help`, so that this file needs no change for new ones.

_tunectl()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' i help
    case $prev in
    --config | --from)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return ;;
    --root | --runtime-dir | --state-dir | --config-dir)
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return ;;
    --for | --interval)
        mapfile -t COMPREPLY < <(compgen -W '1s 30s 10min 1h 1d' -- "$cur")
        return ;;
    esac
    help=$("${COMP_WORDS[0]}" help 2>/dev/null) || return
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sed -n '/^Options:/,$s/^  \(--[a-z-]*\).*/\1/p' <<<"$help")" -- "$cur")
        return
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --config | --from | --root | --runtime-dir | --state-dir | --config-dir | --for | --interval | --count) ((i++)) ;;
        -*) ;;
        *) verb+=${verb:+ }${COMP_WORDS[i]} ;;
        esac
    done
    case $verb in
    '') mapfile -t COMPREPLY < <(compgen -W "$(sed -n '/^Verbs:/,/^Options:/s/^  \([a-z]*\).*/\1/p' <<<"$help")" -- "$cur") ;;
    why | release) mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" why '' 2>&1 | sed -n 's/.*the knobs are: //p' |
        tr -d ,)" -- "$cur") ;;
    objective) mapfile -t COMPREPLY < <(compgen -W test -- "$cur") ;;
    profile) mapfile -t COMPREPLY < <(compgen -W list -- "$cur") ;;
    'objective test') mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" profile list 2>/dev/null |
        sed -n 's/^\([^ ][^ ]*\) .*/\1/p')" -- "$cur") ;;
    esac
}
complete -F _tunectl tunectl

#!/bin/sh
# Waits until the starter is gone (its end of the pipe closes), then ends the processes that its record names.
# A process is ended only if pid and start time both are the recorded ones: never somebody else's.
# $1 = record file, $2 = folder of sockets to remove, or empty, $3 = PostgreSQL's data folder, or empty.
# Whoever takes the folder over ends this script first (it stands in the record too).
record=$1
sockets=$2
data=$3
trap '' HUP INT TERM
while read -r _; do :; done

started_at() {
  if [ -r /proc/self/stat ]; then
    line=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    # shellcheck disable=SC2086
    set -- ${line##*) }
    case $1 in Z|X) return 0 ;; esac
    echo "${20}"
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' '_' | sed 's/^_//;s/_$//'
  fi
}

tries=0
while [ "$tries" -lt 120 ] && [ -s "$record" ]; do
  living=0
  while read -r pid start signal _name; do
    [ "$pid" != "$$" ] || continue
    [ "$(started_at "$pid")" = "$start" ] || continue
    living=1
    if [ "$tries" -eq 0 ]; then kill "-$signal" "$pid" 2>/dev/null; fi
    if [ "$tries" -eq 100 ]; then kill -KILL "$pid" 2>/dev/null; fi
  done <"$record"
  [ "$living" -eq 1 ] || break
  tries=$((tries + 1))
  sleep 0.1
done
# PostgreSQL's children are in no record; each works in the data folder.
if [ -n "$data" ] && data=$(cd "$data" 2>/dev/null && pwd -P); then
  for link in /proc/[0-9]*/cwd; do
    pid=${link#/proc/}
    pid=${pid%/cwd}
    [ "$(readlink "$link" 2>/dev/null)" = "$data" ] || continue
    case "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)" in
      postgres:*|*/bin/postgres*) kill -KILL "$pid" 2>/dev/null ;;
    esac
  done
fi
rm -f "$record"
if [ -n "$sockets" ]; then rm -rf "$sockets"; fi

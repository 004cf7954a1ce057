import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '@pitboss/engines/processes/make-folder'

/** Size from which a file is put aside, in bytes. */
const bytesMax = 64 * 1024 * 1024

/**
 * Keeps the lines of one start in `stack.jsonl` of `folder`, for the owner's eyes only; those of the start
 * before stay in `stack.1.jsonl`. A file that has grown to `max` bytes is put aside in the same way, so that
 * both never hold more than twice that. Nothing is opened before the first line.
 */
export function createLogFile(folder: string, max = bytesMax): (line: string) => void {
  const path = join(folder, 'stack.jsonl')
  let file: number | null = null
  let bytes = 0
  const open = () => {
    makeFolder(folder, 0o700)
    try {
      renameSync(path, join(folder, 'stack.1.jsonl'))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
    bytes = 0
    return openSync(path, 'a', 0o600)
  }
  return (line) => {
    if (file !== null && bytes >= max) {
      closeSync(file)
      file = null
    }
    file ??= open()
    bytes += writeSync(file, `${line}\n`)
  }
}

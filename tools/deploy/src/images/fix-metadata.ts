import { chmodSync, lchownSync, lstatSync, lutimesSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Time of every file of an image: the first of 1980, which no archive format fails to hold. */
const fileTimeS = 315_532_800

/**
 * Gives a folder and all below it the same time, owner and modes wherever and whenever it was made: the layer
 * that holds it has then the same digest. Everybody may read, and run what its owner could run.
 */
export function fixMetadata(path: string): void {
  const entry = lstatSync(path)
  if (entry.isDirectory()) for (const name of readdirSync(path)) fixMetadata(join(path, name))
  if (process.getuid?.() === 0) lchownSync(path, 0, 0)
  const isRunnable = entry.isDirectory() || (entry.mode & 0o100) !== 0
  if (!entry.isSymbolicLink()) chmodSync(path, isRunnable ? 0o755 : 0o644)
  lutimesSync(path, fileTimeS, fileTimeS)
}

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { reasonOf } from '@pitboss/engines/engine-error'
import { type ClaimResult, claimFile } from '@pitboss/engines/processes/claim-file'
import { makeFolder } from '@pitboss/engines/processes/make-folder'
import { badConfigExitCode } from '@pitboss/runtime/load-config'
import { StackError } from './stack-error.ts'

/**
 * Makes the data folder and holds it for this process.
 * @returns what lets go of it
 * @throws StackError when it cannot be used, or another stack holds it
 */
export function claimDataFolder(dataDir: string): () => Promise<void> {
  let result: ClaimResult
  try {
    makeFolder(dataDir)
    result = claimFile(join(dataDir, 'stack.lock'))
  } catch (cause) {
    throw new StackError(
      `PITBOSS_DATA_DIR or --data-dir names ${dataDir}, which cannot be used as the data folder: ${reasonOf(cause)}`,
      { exitCode: badConfigExitCode, cause },
    )
  }
  if ('heldBy' in result) {
    throw new StackError(
      `The data folder ${dataDir} is in use by another stack (process ${result.heldBy}). Stop that one, or choose another folder: npm start -- --data-dir <folder>`,
    )
  }
  return async () => result.claim.release()
}

/** Drops everything in a data folder but the lock that this process holds. */
export function dropState(dataDir: string): void {
  for (const name of [
    'mongodb',
    'nats',
    'wallet',
    'live-wallet',
    'receiver',
    'connection.json',
    'demo.json',
    'demo-account.json',
    'demo-ports.json',
    'master-keys.json',
    'compiled',
  ]) {
    rmSync(join(dataDir, name), { recursive: true, force: true })
  }
}

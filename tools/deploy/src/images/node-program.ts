import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EngineError } from '@pitboss/engines/engine-error'
import { runProgram } from '@pitboss/engines/fetch/run-program'

/** The Node that goes into the base layer. */
export type NodeProgram = {
  readonly path: string
  readonly version: string
  readonly sha256: string
  /** Text of its licences; null where none lies beside it. */
  readonly licence: string | null
}

/**
 * The Node at `path`, an official build or npm's own package of it, such as the one that `npm ci` brings.
 * @throws EngineError for one that does not run here or is too old for our flags
 */
export async function readNodeProgram(path: string): Promise<NodeProgram> {
  const printed = await runProgram(path, ['--version'], { env: {} })
  const version = /^v(\d+\.\d+\.\d+)\s*$/.exec(printed)?.[1]
  if (version === undefined) throw new EngineError(`${path} is no Node: it says ${printed.trim()}`)
  if (Number(version.split('.')[0]) < 24) throw new EngineError(`${path} is Node ${version}; 24 is needed`)
  const licence = join(dirname(path), '..', 'LICENSE')
  return {
    path,
    version,
    sha256: createHash('sha256').update(readFileSync(path)).digest('hex'),
    licence: existsSync(licence) ? readFileSync(licence, 'utf8') : null,
  }
}

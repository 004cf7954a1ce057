import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { EngineError } from '../engine-error.ts'

const outputBytesMax = 64 * 1024 * 1024
const errorTextMax = 600

export type RunOptions = {
  cwd?: string
  env?: NodeJS.ProcessEnv
  uid?: number
  gid?: number
  timeoutMs?: number
  /** Exit codes besides 0 that are fine. */
  allow?: number[]
}

/**
 * Runs a program to its end.
 * @returns its standard output.
 * @throws EngineError with the end of its output when it fails.
 */
export async function runProgram(program: string, args: string[], options: RunOptions = {}): Promise<string> {
  const { timeoutMs = 300_000, allow = [], ...spawnOptions } = options
  const child = spawn(program, args, {
    ...spawnOptions,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  })
  let output = ''
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < outputBytesMax) output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-8_192)
  })
  const how = await new Promise<number | string>((resolve, reject) => {
    child.on('error', (error) => reject(new EngineError(`${program}: ${error.message}`)))
    child.on('close', (code, signal) => resolve(code ?? `signal ${signal}`))
  })
  if (how === 0 || (typeof how === 'number' && allow.includes(how))) return output
  const text = (said.trim() || output.trim()).slice(-errorTextMax)
  throw new EngineError(`${basename(program)} failed (${how}): ${text}`)
}

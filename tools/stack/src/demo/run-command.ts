import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { projectFile } from '../stack-services.ts'

const timeoutMs = 30_000

export type CommandResult = { code: number | null; stdout: string; stderr: string }

/** Runs a command of the product as a person would, `input` on its standard input. */
export async function runCommand(
  entry: string,
  flags: readonly string[],
  input = '',
): Promise<CommandResult> {
  const child = spawn(process.execPath, [projectFile(entry), ...flags], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: timeoutMs,
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  child.stdin.end(input)
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}

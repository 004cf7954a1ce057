import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { shown, shownInLine, shownJson } from '@pitboss/contracts/acting-characters'
import { verifyRound } from '@pitboss/fairness/verify-round'
import pc from 'picocolors'

const UNREADABLE_EXIT_CODE = 2

/**
 * Verifies a finished round from a JSON file ("-" reads standard input): a round record or a
 * `round.completed` event.
 * @returns the exit code: 0 valid, 1 not valid, 2 when the input cannot be read as JSON
 */
export async function verifyCommand(path: string, { json }: { json: boolean }): Promise<number> {
  const input = await readInput(path)
  if (!input.ok) {
    process.stderr.write(`${shown(input.message)}\n`)
    return UNREADABLE_EXIT_CODE
  }
  const { valid, checks } = verifyRound(input.value)
  if (json) {
    process.stdout.write(`${shownJson({ valid, checks }, 2)}\n`)
    return valid ? 0 : 1
  }
  for (const { name, ok, ...values } of checks) {
    const [expected, actual] = [shownInLine(values.expected), shownInLine(values.actual)]
    const found = ok ? pc.dim(actual) : `expected ${pc.green(expected)}, found ${pc.red(actual)}`
    process.stdout.write(`${ok ? pc.green('✓') : pc.red('✗')} ${name}  ${found}\n`)
  }
  process.stdout.write(valid ? pc.green('The round is valid.\n') : pc.red('The round is NOT valid.\n'))
  return valid ? 0 : 1
}

async function readInput(
  path: string,
): Promise<{ ok: true; value: unknown } | { ok: false; message: string }> {
  try {
    const content = path === '-' ? await text(process.stdin) : await readFile(path, 'utf8')
    return { ok: true, value: JSON.parse(content) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error'
    return { ok: false, message: `${path}: ${reason}` }
  }
}

import { z } from 'zod'
import { page, roundAnswer, DemoError, expectAnswer } from '../answers.ts'
import type { Chapter } from '../tour.ts'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { projectFile } from '../../stack-services.ts'

const verdict = z.looseObject({
  valid: z.boolean(),
  checks: z.array(z.looseObject({ name: z.string(), ok: z.boolean() })),
})

/** Anybody can recompute a round from its record alone, and a changed record is found out. */
export const verifyCommand: Chapter = async ({ api, log, run, token }) => {
  log.step('Verification by the command', '"pitboss verify -" with the record of a dice round')
  const url = `${api}/rounds?player_id=demo-${run}-dice&limit=1`
  const { data } = await expectAnswer(200, page(roundAnswer), 'GET', url, { token })
  const [round] = data
  if (round === undefined) throw new DemoError('GET /v1/rounds does not show the round that was played')

  const { checks } = await verify(round, 0)
  log.happened(`exit code 0: ${checks.length} of ${checks.length} checks hold for ${round.round_id}`)
  for (const { name } of checks) log.detail('verify', `${name} holds`, { name, ok: true })
  const changed = await verify({ ...round, payout: '1000.00' }, 1)
  const broken = changed.checks.filter(({ ok }) => !ok).map(({ name }) => name)
  log.happened(`the same record with a payout of 1000.00: exit code 1, ${broken.join(', ')} does not hold`)
}

async function verify(round: object, expectedCode: number): Promise<z.infer<typeof verdict>> {
  const { code, stdout, stderr } = await runCommand(
    'tools/operator-kit/src/cli.ts',
    ['verify', '-', '--json'],
    JSON.stringify(round),
  )
  if (code !== expectedCode)
    throw new DemoError(`pitboss verify ended with ${code}, expected ${expectedCode}: ${stdout}${stderr}`)
  return verdict.parse(JSON.parse(stdout))
}

const consumer = 'webhooks-fanout'
const rewindResult = z.looseObject({
  seen: z.number(),
  repaired: z.number(),
  unchanged: z.number(),
  parked: z.number(),
})

/** Operations replay the fan-out of the whole tour; where everything is right already, nothing changes. */
export const consumerRewind: Chapter = async ({ dataDir, log, startedAt }) => {
  log.step('The fan-out is rewound', `npm run ops -- consumer rewind ${consumer} --from-time ${startedAt}`)
  const { code, stdout, stderr } = await runCommand('tools/ops/src/main.ts', [
    ...['consumer', 'rewind', consumer, '--from-time', startedAt],
    ...['--reason', 'guided tour', '--data-dir', dataDir, '--json', '--yes'],
  ])
  if (code !== 0) throw new DemoError(`the ops command ended with ${code}: ${stderr}`)
  const result = rewindResult.parse(JSON.parse(stdout))
  const { seen, repaired, unchanged, parked } = result
  if (seen === 0 || repaired !== 0 || unchanged !== seen)
    throw new DemoError(`the rewind should have found everything right: ${stdout}`)
  log.happened(`${seen} messages seen, ${repaired} repaired, ${unchanged} unchanged`, {
    seen,
    repaired,
    unchanged,
    parked,
  })
}

const timeoutMs = 30_000

type CommandResult = { code: number | null; stdout: string; stderr: string }

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

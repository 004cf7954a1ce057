import { z } from 'zod'
import { page, roundAnswer } from '../demo-answers.ts'
import { DemoError, expectAnswer } from '../demo-http.ts'
import { runCommand } from '../run-command.ts'
import type { Chapter } from '../tour.ts'

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

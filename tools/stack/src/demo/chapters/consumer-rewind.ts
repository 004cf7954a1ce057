import { z } from 'zod'
import { DemoError } from '../demo-http.ts'
import { runCommand } from '../run-command.ts'
import type { Chapter } from '../tour.ts'

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

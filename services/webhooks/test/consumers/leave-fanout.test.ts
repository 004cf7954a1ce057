import { applyTopology } from '@pitboss/bus/apply-topology'
import { connectBus } from '@pitboss/bus/connect-bus'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import { pino } from 'pino'
import t from 'tap'
import { createFanoutLateness } from '../../src/actions/record-batch.ts'
import { startFanout } from '../../src/consumers/fanout.ts'

t.test(
  'a replica that has lost the consumer in the middle of a batch says nothing of its lateness',
  async (t) => {
    const { natsUrl } = await withEngines(t)
    const logger = pino({ level: 'silent' })
    const bus = await connectBus({ url: natsUrl, service: 'webhooks', logger })
    t.teardown(() => bus.close())
    await applyTopology(bus.nc, { replicas: 1 })
    const lateness = createFanoutLateness()
    const madeAt = new Date(0)
    const lateMs = (afterMs: number) => lateness.lateMs(new Date(madeAt.getTime() + afterMs))
    let isOurs = true
    let batches = 0
    const fanout = startFanout({
      ...{ bus, lateness, logger },
      lease: { hold: async () => isOurs, release: async () => undefined },
      self: () => (isOurs ? 'this one' : null),
      handle: () => {
        batches += 1
        lateness.began([madeAt])
        return Promise.reject(new Error('the database is away'))
      },
    })
    t.teardown(() => fanout.stop())
    await bus.publishEvent({
      ...{ id: 'evt_1', subject: 'events.v1.live.op.round.started' },
      payload: Buffer.from('{}'),
    })
    await waitFor(() => batches > 0, { what: 'a batch that fails' })
    t.equal(lateMs(1000), 0, 'what it finds counts for nothing')
    t.equal(lateMs(4000), 3000, 'and grows while it is not recorded')
    isOurs = false
    let afterMs = 4000
    await waitFor(() => lateMs((afterMs += 1000)) === 0, {
      what: 'silence, since another replica records the events now',
    })
  },
)

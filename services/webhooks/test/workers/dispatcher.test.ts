import type { Instances } from '@pitboss/storage/journal/instances'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import { type Dispatcher, startDispatcher } from '../../src/workers/dispatcher.ts'
import { startHeartbeat } from '../../src/workers/heartbeat.ts'
import { createSlots } from '../../src/actions/slots.ts'

t.test('a worker without any heartbeat yet takes nothing, however young its process is', async (t) => {
  const beaten = Promise.withResolvers<void>()
  const asked: string[] = []
  let looks = 0
  let isWrong = false
  let clockLooks = 0
  const summary = {
    ...{ _id: 'whe_1', operatorId: 'an operator', environment: 'SANDBOX' as const },
    ...{ wakes: 0, leaseOwner: null },
  }
  const instances: Pick<Instances, 'current' | 'beat' | 'leave'> = {
    current: () => 'self',
    async beat() {
      await beaten.promise
      asked.push('beaten')
      return { instance: 'self', isNew: false, toRecover: [], alive: ['self'] }
    },
    leave: async () => undefined,
  }
  const logger = pino({ level: 'silent' })
  const heartbeat = startHeartbeat({
    instances: instances as Instances,
    clockAgrees() {
      if (isWrong) clockLooks += 1
      return !isWrong
    },
    hasLeft: async () => false,
    logger,
  })
  t.teardown(() => heartbeat.stop())
  const self = () => {
    looks += 1
    return heartbeat.self()
  }
  const parts: { [Name in keyof Parameters<typeof startDispatcher>[0]]?: unknown } = {
    heartbeat: { ...heartbeat, self },
    connection: () => 1,
    listen: (onNotification: (notification: unknown) => void) => {
      onNotification({ ids: ['whe_1'], ends: [], leaving: [] })
      return () => undefined
    },
    endpoints: {
      summaries: async () => [summary],
      page: async () => [],
      take: async () => {
        asked.push('take')
        return null
      },
    },
    memory: { successes: new Map() },
    bus: { publish: () => undefined },
    slots: createSlots({ totalMax: 1 }),
    logger,
  }
  const dispatcher: Dispatcher = startDispatcher(parts as never)
  t.teardown(() => dispatcher.stop())
  await waitFor(() => looks >= 8, { what: 'it looks whether it lives, more than once' })
  t.strictSame(asked, [])
  beaten.resolve()
  await waitFor(() => asked.includes('take'), { what: 'it takes what was announced' })
  t.equal(asked[0], 'beaten')

  isWrong = true
  const lastBeat = () => asked.lastIndexOf('beaten')
  await waitFor(() => looks >= 8 && clockLooks >= 2, { what: 'it sees that its clock is wrong' })
  const [beats, length] = [lastBeat(), asked.length]
  const until = clockLooks + 2
  await waitFor(() => clockLooks >= until, { what: 'two more heartbeats' })
  t.same([lastBeat(), asked.length], [beats, length], 'it tells no heartbeat and takes nothing')
})

import { systemClock } from '@pitboss/runtime/clock'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import { startDispatcher } from '../../src/workers/dispatcher.ts'
import { createSlots } from '../../src/workers/slots.ts'

t.test('a worker without any heartbeat yet takes nothing, however young its process is', async (t) => {
  // The first seconds of a process, in which its clock has not yet come to the life of a heartbeat.
  let looks = 0
  t.intercept(performance, 'now', {
    value: () => {
      looks += 1
      return 10
    },
  })
  const beaten = Promise.withResolvers<void>()
  const asked: string[] = []
  const unused = () => {
    throw new Error('no endpoint is taken')
  }
  let isWrong = false
  let clockLooks = 0
  const dispatcher = startDispatcher({
    clockAgrees: () => {
      if (isWrong) clockLooks += 1
      return !isWrong
    },
    listen: (onNotification) => {
      onNotification({ ids: ['whe_1'], fresh: [] })
      return () => undefined
    },
    leaseEndpoints: {
      async beat() {
        await beaten.promise
        asked.push('beaten')
        return []
      },
      due: async () => {
        asked.push('due')
        return []
      },
      take: async () => {
        asked.push('take')
        return []
      },
      workCounts: async () => new Map(),
      release: unused,
      abandon: unused,
      retire: async () => undefined,
    },
    openEndpointView: unused,
    claimDeliveries: { choose: unused, cancel: unused, claim: unused },
    makeAttempt: unused,
    settleAttempt: unused,
    recoverOrphans: unused,
    recordSuccesses: { add: unused, flush: async () => undefined },
    slots: createSlots({ totalMax: 1 }),
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    onAttempt: unused,
  })
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

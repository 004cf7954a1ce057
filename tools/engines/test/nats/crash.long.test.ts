import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { waitFor } from '@pitboss/testing/wait-for'
import { connect, nkeyAuthenticator } from 'nats'
import t from 'tap'
import { startNats } from '../../src/start-nats.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

/** `PITBOSS_CRASH_ROUNDS=20` for the long run. */
const rounds = Number(process.env.PITBOSS_CRASH_ROUNDS ?? 3)
const publishers = 8
const publishesBetween = 100
const recoveryMsMax = 20_000
const publishTimeoutMs = 1_000

const dataDir = temporaryFolder(t)
const engine = await startNats({ dataDir, accounts: [{ name: 'CRASH', users: [{ name: 'ops' }] }] })
t.teardown(engine.stop)
const nc = await connect({
  servers: engine.url,
  authenticator: nkeyAuthenticator(new TextEncoder().encode(engine.seeds.ops)),
  maxReconnectAttempts: -1,
  reconnectTimeWait: 20,
})
t.teardown(() => nc.close())
const manager = await jetstreamManager(nc)
const nanosPerSecond = 1_000_000_000
await manager.streams.add({ name: 'S', subjects: ['s.>'], duplicate_window: 120 * nanosPerSecond })
await manager.consumers.add('S', {
  durable_name: 'reader',
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanosPerSecond,
})

await t.test(
  'kill -9 of nats-server loses nothing acknowledged, stores nothing twice, and a durable reader gets all of it',
  async (t) => {
    const js = jetstream(nc)
    const acknowledged = new Map<string, number>()
    let running = true
    /** As an outbox relay does: the same id again until it is acknowledged. */
    async function publish(publisher: number): Promise<void> {
      for (let n = 0; running; n++) {
        const msgID = `${publisher}-${n}`
        while (!acknowledged.has(msgID)) {
          try {
            const { seq } = await js.publish(`s.${publisher}`, msgID, { msgID, timeout: publishTimeoutMs })
            acknowledged.set(msgID, seq)
          } catch (error) {
            if (!isOutage(error)) throw error
          }
        }
      }
    }
    const read = new Set<string>()
    let published = false
    async function readAll(): Promise<void> {
      const consumer = await js.consumers.get('S', 'reader')
      while (!published || read.size < acknowledged.size) {
        try {
          for await (const message of await consumer.fetch({ max_messages: 500, expires: 1_000 })) {
            read.add(message.string())
            message.ack()
          }
        } catch (error) {
          if (!isOutage(error)) throw error
        }
      }
    }
    const publishing = Array.from({ length: publishers }, (_, publisher) => publish(publisher))
    const reading = readAll()
    const more = () => {
      const goal = acknowledged.size + publishesBetween
      return waitFor(() => acknowledged.size >= goal, { timeoutMs: recoveryMsMax, what: 'more publishes' })
    }
    const recoveriesMs: number[] = []
    for (let round = 0; round < rounds; round++) {
      await more()
      const killed = engine.pid()
      if (killed === null) throw new Error('the server is not ours')
      process.kill(killed, 'SIGKILL')
      const killedAt = performance.now()
      await waitFor(() => engine.pid() !== killed, { timeoutMs: recoveryMsMax, what: 'another process' })
      await more()
      recoveriesMs.push(Math.round(performance.now() - killedAt))
    }
    running = false
    await Promise.all(publishing)
    published = true
    await reading

    const { messages } = (await manager.streams.info('S')).state
    t.equal(messages, acknowledged.size, 'as many are stored as were acknowledged')
    t.equal(new Set(acknowledged.values()).size, acknowledged.size, 'each at a place of its own')
    t.strictSame(
      [...acknowledged.keys()].filter((msgID) => !read.has(msgID)),
      [],
      'the reader got each of them',
    )
    t.comment(`${acknowledged.size} acknowledged; publishing again after ${recoveriesMs.join(', ')} ms`)
  },
)

/** What a client may see while its server is away or has just come back. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof Error &&
    /timeout|no ?responders|disconnect|connection|503|heartbeat|not available/i.test(
      `${error.name} ${error.message}`,
    )
  )
}

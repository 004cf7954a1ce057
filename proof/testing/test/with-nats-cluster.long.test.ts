import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from 'nats'
import t from 'tap'
import { waitFor } from '../src/wait-for.ts'
import { withNatsCluster } from '../src/with-nats-cluster.ts'

await t.test(
  'a stream with three replicas keeps what it acknowledged when its leader is killed',
  async (t) => {
    const { servers, user, password } = await withNatsCluster(t)
    const nc = await connect({
      servers: servers.map(({ url }) => url),
      user,
      pass: password,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
    })
    t.teardown(() => nc.close())
    // The stream is asked for until the servers have a leader; this asks them nothing.
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const { cluster } = await waitFor(
      () => manager.streams.add({ name: 'S', subjects: ['s.>'], num_replicas: 3 }),
      {
        what: 'the stream',
      },
    )
    // Who leads a new stream may still be told around.
    const ack = await jetstream(nc).publish('s.a', 'kept', { retries: 40 })
    const leader = servers[Number(cluster?.leader?.slice(1)) - 1]
    const killed = leader?.pid()
    if (killed === undefined) throw new Error('the stream has no leader')
    process.kill(killed, 'SIGKILL')
    const message = await waitFor(() => manager.streams.getMessage('S', { seq: ack.seq }), {
      what: 'the message',
    })
    t.equal(message.string(), 'kept')
    await waitFor(() => leader?.pid() !== killed, { what: 'the killed server' })
  },
)

import t from 'tap'
import { renderConfiguration } from '../../src/nats/nats-configuration.ts'

const values = { serverName: 'n', port: 4222, monitorPort: 8222, storeFolder: '/data/js' }

await t.test('renders accounts, users and rights; durable, and on loopback only', async (t) => {
  const text = renderConfiguration({
    ...values,
    accounts: [
      {
        name: 'PITBOSS',
        users: [
          {
            name: 'auth',
            publicKey: 'UKEY',
            permissions: {
              publish: { allow: ['a.>'], deny: ['a.b'] },
              subscribe: { allow: ['rpc.auth.> auth'] },
            },
          },
          { name: 'ops', password: 'p"w' },
        ],
      },
    ],
  })
  t.strictSame(JSON.parse(text), {
    server_name: 'n',
    listen: '127.0.0.1:4222',
    http: '127.0.0.1:8222',
    max_payload: 1_048_576,
    jetstream: { store_dir: '/data/js', sync_interval: 'always' },
    accounts: {
      PITBOSS: {
        jetstream: 'enabled',
        users: [
          {
            nkey: 'UKEY',
            permissions: {
              publish: { allow: ['a.>'], deny: ['a.b'] },
              subscribe: { allow: ['rpc.auth.> auth'] },
            },
          },
          { user: 'ops', password: 'p"w' },
        ],
      },
    },
  })
})

await t.test('renders what an account lets others use, on both sides', async (t) => {
  const text = renderConfiguration({
    ...values,
    accounts: [
      {
        name: 'A',
        jetstream: false,
        users: [{ name: 'a', password: 'p' }],
        exports: [
          { kind: 'service', subject: 'a.v1.>', accounts: ['B'] },
          { kind: 'service', subject: '$SRV.PING.a', accounts: ['B'], manyAnswers: true },
          { kind: 'stream', subject: 'a.news.>', accounts: ['B'] },
        ],
        imports: [],
      },
      {
        name: 'B',
        users: [{ name: 'b', password: 'p' }],
        imports: [
          { kind: 'service', account: 'A', subject: 'a.v1.>' },
          { kind: 'stream', account: 'A', subject: 'a.news.>' },
        ],
      },
    ],
  })
  t.strictSame(JSON.parse(text).accounts, {
    A: {
      users: [{ user: 'a', password: 'p' }],
      exports: [
        { service: 'a.v1.>', accounts: ['B'] },
        { service: '$SRV.PING.a', accounts: ['B'], response_type: 'Stream' },
        { stream: 'a.news.>', accounts: ['B'] },
      ],
      imports: [],
    },
    B: {
      jetstream: 'enabled',
      users: [{ user: 'b', password: 'p' }],
      imports: [
        { service: { account: 'A', subject: 'a.v1.>' } },
        { stream: { account: 'A', subject: 'a.news.>' } },
      ],
    },
  })
})

await t.test('a user that nobody could tell apart is refused', async (t) => {
  t.throws(
    () => renderConfiguration({ ...values, accounts: [{ name: 'A', users: [{ name: 'x' }] }] }),
    /neither key nor password/,
  )
})

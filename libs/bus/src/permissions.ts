import { accessBucket, accessNews, accessStream, eventsStream } from './topology.ts'

/** What one NATS user may publish to and subscribe to. Everything else is refused. */
export type NatsPermissions = {
  readonly publish: { readonly allow: readonly string[]; readonly deny?: readonly string[] }
  readonly subscribe: { readonly allow: readonly string[] }
}

export const natsUsers = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks', 'ops'] as const
export type NatsUser = (typeof natsUsers)[number]

/** What only the ops user may call. */
const opsCalls = ['*.v1.ops.>']

const allCalls = ['auth.v1.>', 'rounds.v1.>', 'wallet.v1.>', 'webhooks.v1.>']

const streamInfo = (stream: string) => `$JS.API.STREAM.INFO.${stream}`

const durable = (stream: string, name: string) => [
  streamInfo(stream),
  `$JS.API.CONSUMER.INFO.${stream}.${name}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
  `$JS.ACK.${stream}.${name}.>`,
  `$JS.ACK.*.*.${stream}.${name}.>`,
]

const fanout = durable(eventsStream.name, 'webhooks-fanout')
const movements = durable(eventsStream.name, 'rounds-movements')

/** Reading the access bucket: open it, watch it by an ordered push consumer, get one entry. */
const accessRead = [
  streamInfo(accessStream.name),
  `$JS.API.CONSUMER.CREATE.${accessStream.name}.>`,
  `$JS.API.CONSUMER.INFO.${accessStream.name}.>`,
  `$JS.API.CONSUMER.DELETE.${accessStream.name}.>`,
  `$JS.API.DIRECT.GET.${accessStream.name}.>`,
  `$JS.FC.${accessStream.name}.>`,
]

const serves = (calls: string, service: string) => [`${calls} ${service}`, '$SRV.>', `_INBOX.${service}.>`]

/**
 * The rights of each NATS user: its own calls, streams and inbox, nothing else. A service answers to `_INBOX.>`.
 * Traps that shaped it: `_INBOX_*.>` is no wildcard; no `allow_responses`; `"auth.v1.> auth"` binds a subscription to its
 * queue group. Source: design notes on NATS, "Permissions".
 */
export const natsPermissions: Readonly<Record<NatsUser, NatsPermissions>> = {
  gateway: {
    publish: {
      allow: [...allCalls, ...accessRead, 'gw.limits.>', '$SRV.PING.>', '_INBOX.ops.>'],
      deny: opsCalls,
    },
    // It serves no call, but `ops status` counts its replicas.
    subscribe: {
      allow: [
        '_INBOX.gateway.>',
        'gw.limits.>',
        `${accessNews}.>`,
        '$SRV.*',
        '$SRV.*.gateway',
        '$SRV.*.gateway.*',
      ],
    },
  },
  auth: {
    publish: {
      allow: ['_INBOX.>', 'rounds.v1.>', streamInfo(accessStream.name), `$KV.${accessBucket}.>`],
      deny: opsCalls,
    },
    subscribe: { allow: serves('auth.v1.>', 'auth') },
  },
  rounds: {
    publish: {
      allow: [
        '_INBOX.>',
        'wallet.v1.>',
        'wake.rounds.>',
        'events.v1.*.*.round.>',
        'events.v1.*.*.game.session.>',
        ...movements,
      ],
      deny: opsCalls,
    },
    subscribe: { allow: [...serves('rounds.v1.>', 'rounds'), 'wake.rounds.>'] },
  },
  'wallet-bridge': {
    publish: {
      allow: [
        '_INBOX.>',
        'wake.wallet.>',
        'wb.breakers.>',
        'events.v1.*.*.transaction.>',
        streamInfo(eventsStream.name),
      ],
    },
    subscribe: { allow: [...serves('wallet.v1.>', 'wallet-bridge'), 'wake.wallet.>', 'wb.breakers.>'] },
  },
  webhooks: {
    publish: { allow: ['_INBOX.>', 'wake.webhooks.>', ...fanout] },
    subscribe: { allow: [...serves('webhooks.v1.>', 'webhooks'), 'wake.webhooks.>'] },
  },
  ops: {
    publish: { allow: [...allCalls, '$JS.API.>', '$SRV.>'] },
    subscribe: { allow: ['_INBOX.ops.>'] },
  },
}

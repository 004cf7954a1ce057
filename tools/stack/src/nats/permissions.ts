import { servicesAskedBy, subjectsAskedBy } from '@pitboss/contracts/defined-calls'
import { latenessSubject } from '@pitboss/contracts/lateness'
import { accessBucket, accessNews, eventsStream, roundsMovements } from '@pitboss/bus/topology'
import { type TailRoot, tailRoots, tailWatchSubject } from '@pitboss/bus/tail-notes'
import { answerRoot } from '@pitboss/bus/wire'

/** Subjects that one NATS user may publish to and subscribe to. Everything else is refused. */
export type NatsPermissions = {
  readonly publish: { readonly allow: readonly string[] }
  readonly subscribe: { readonly allow: readonly string[] }
}

const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks'] as const
export const natsUsers = [...services, 'ops'] as const
export type NatsUser = (typeof natsUsers)[number]

/**
 * Answers of a service. Those who ask have accounts of their own, so the server gives each request a way
 * back under this root.
 */
const answers = `${answerRoot}>`

const durable = (stream: string, name: string) => [
  `$JS.API.CONSUMER.INFO.${stream}.${name}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
  `$JS.ACK.${stream}.${name}.>`,
  `$JS.ACK.*.*.${stream}.${name}.>`,
]

/** The calls that a user makes, and the question whether somebody still works on them. */
const asks = (user: NatsUser) => [
  ...subjectsAskedBy(user),
  ...servicesAskedBy(user).map((service) => `$SRV.PING.${service}`),
]

/** Notes between the replicas of a service about documents that they have in memory. */
const copies = (service: string) => `copies.${service}.>`

/** Notes of a service about accounts that are followed. */
const tailsOf = (root: TailRoot) => `${root}.tail.v1.>`

/**
 * Makes the consumer again when the broker has lost it, from where it was: with the stream's state, and the
 * message at a sequence.
 * @param filter the consumer's filter, which is a part of the subject
 */
const remake = (stream: string, name: string, filter: string | null = null) => [
  `$JS.API.CONSUMER.CREATE.${stream}.${[name, ...(filter === null ? [] : [filter])].join('.')}`,
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
]

const fanout = [
  ...durable(eventsStream.name, 'webhooks-fanout'),
  ...remake(eventsStream.name, 'webhooks-fanout'),
]
/** Shows what webhooks has recorded, which ends the duties of an entry. */
const fanoutInfo = [
  `$JS.API.CONSUMER.INFO.${eventsStream.name}.webhooks-fanout`,
  `$JS.API.STREAM.INFO.${eventsStream.name}`,
]
const movements = [
  ...durable(eventsStream.name, 'rounds-movements'),
  ...remake(eventsStream.name, 'rounds-movements', roundsMovements.config.filter_subject),
]

/**
 * Subjects on which a replica is asked for its identity. Not `$SRV.*`: it would also let a user hear
 * `$SRV.>`.
 */
const presence = (service: string) => [
  ...['PING', 'INFO', 'STATS'].map((verb) => `$SRV.${verb}`),
  `$SRV.*.${service}`,
  `$SRV.*.${service}.*`,
]

const serves = (calls: string, service: string) => [
  `${calls} ${service}`,
  ...presence(service),
  `_INBOX.${service}.>`,
]

/**
 * The rights of each NATS user: the calls that name it among their callers, its streams and inbox, nothing
 * else. `natsAccounts` makes an account for each, so that none reaches another's inbox. A movement is placed
 * or voided by rounds alone. Traps that shaped it: `_INBOX_*.>` is no wildcard; `"auth.v1.> auth"` binds a
 * subscription to its queue group; with `allow_responses` a user who hears his own messages can publish
 * anything, by naming it as the reply subject. Source: docs/decisions/2026-11-22-account-per-service.md.
 */
export const natsPermissions: Readonly<Record<NatsUser, NatsPermissions>> = {
  gateway: {
    publish: {
      allow: [...asks('gateway'), 'gw.limits.>', tailWatchSubject, tailsOf('gateway'), answers],
    },
    // It serves no call, but `ops status` counts its replicas.
    subscribe: {
      allow: [
        '_INBOX.gateway.>',
        'gw.limits.>',
        `${accessNews}.>`,
        tailWatchSubject,
        ...tailRoots.map(tailsOf),
        ...presence('gateway'),
      ],
    },
  },
  auth: {
    publish: { allow: [answers, ...asks('auth'), `$KV.${accessBucket}.>`] },
    subscribe: { allow: serves('auth.v1.>', 'auth') },
  },
  rounds: {
    publish: {
      allow: [
        answers,
        ...asks('rounds'),
        copies('rounds'),
        'events.v1.*.*.round.>',
        'events.v1.*.*.game.session.>',
        `$JS.API.CONSUMER.INFO.${eventsStream.name}.webhooks-fanout`,
        ...movements,
      ],
    },
    subscribe: { allow: [...serves('rounds.v1.>', 'rounds'), copies('rounds'), latenessSubject] },
  },
  'wallet-bridge': {
    publish: {
      allow: [
        answers,
        ...asks('wallet-bridge'),
        'wake.wallet.>',
        'wb.breakers.>',
        copies('wallet-bridge'),
        tailsOf('wallet'),
        'events.v1.*.*.transaction.>',
        ...fanoutInfo,
      ],
    },
    subscribe: {
      allow: [
        ...serves('wallet.v1.>', 'wallet-bridge'),
        ...['wake.wallet.>', 'wb.breakers.>', copies('wallet-bridge'), tailWatchSubject],
      ],
    },
  },
  webhooks: {
    publish: {
      allow: [
        answers,
        ...asks('webhooks'),
        'wake.webhooks.>',
        copies('webhooks'),
        latenessSubject,
        tailsOf('webhooks'),
        ...fanout,
      ],
    },
    subscribe: {
      allow: [
        ...serves('webhooks.v1.>', 'webhooks'),
        'wake.webhooks.>',
        copies('webhooks'),
        tailWatchSubject,
      ],
    },
  },
  ops: {
    publish: {
      allow: [
        ...subjectsAskedBy('ops'),
        '$JS.API.>',
        ...services.flatMap((service) => [`$SRV.*.${service}`, `$SRV.*.${service}.*`]),
      ],
    },
    subscribe: { allow: ['_INBOX.ops.>'] },
  },
}

import type { NatsAccount } from '@pitboss/engines/nats/nats-configuration'
import { type NatsUser, natsPermissions, natsUsers } from './permissions.ts'

type NatsExport = NonNullable<NatsAccount['exports']>[number]
type NatsImport = NonNullable<NatsAccount['imports']>[number]

/**
 * The account with the streams; `ops` is its user. Its name is part of the path under which JetStream keeps
 * them.
 */
const streamsAccount = 'PITBOSS'
const accountOf = (user: NatsUser) => (user === 'ops' ? streamsAccount : user)

/**
 * Importing this keeps the server from importing `$JS.API.>` by itself into an account without streams,
 * where it would answer every request first, with "not enabled".
 */
const jetstreamInfo = '$JS.API.INFO'

/** Subjects on which one request has several answers: one of each replica, or one of each message. */
const severalAnswer = ['$SRV.', '$JS.API.CONSUMER.MSG.NEXT.']

/**
 * The accounts of NATS: one for the streams and one for each service, derived from what their users may
 * publish and hear. A subject is known to its own account alone, but for these exports and imports. So an
 * answer stays in the asker's account, whatever subject a request names for it. Source:
 * docs/decisions/2026-11-22-account-per-service.md.
 */
export const natsAccounts = natsUsers.map((user) => ({
  name: accountOf(user),
  jetstream: user === 'ops',
  users: [{ name: user, permissions: natsPermissions[user] }],
  exports: exportsOf(accountOf(user)),
  imports: importsOf(user),
}))

function importsOf(user: NatsUser): NatsImport[] {
  const { publish, subscribe } = natsPermissions[user]
  const importAs = (kind: NatsImport['kind']) => (subject: string) => {
    const account = ownerOf(subject, user)
    return account === accountOf(user) ? [] : [{ kind, account, subject }]
  }
  const imports = [
    ...publish.allow.flatMap(importAs('service')),
    ...subscribe.allow.flatMap(importAs('stream')),
  ]
  const usesApi = imports.some(({ subject }) => subject.startsWith('$JS.API.'))
  return usesApi
    ? [{ kind: 'service', account: streamsAccount, subject: jetstreamInfo }, ...imports]
    : imports
}

function exportsOf(account: string): NatsExport[] {
  const exports = new Map<string, NatsExport>()
  for (const user of natsUsers) {
    for (const { kind, subject } of importsOf(user).filter((one) => one.account === account)) {
      const accounts = [...(exports.get(subject)?.accounts ?? []), accountOf(user)]
      const manyAnswers = severalAnswer.some((root) => subject.startsWith(root))
      exports.set(subject, { kind, subject, accounts, manyAnswers })
    }
  }
  return [...exports.values()]
}

/** The account to which `subject` belongs: its streams', its service's, or the user's own. */
function ownerOf(subject: string, user: NatsUser): string {
  const [root = '', , third = ''] = subject.split('.')
  if (['events', 'access', '$KV', '$JS'].includes(root)) return streamsAccount
  const service = root === '$SRV' ? third : root === 'wallet' ? 'wallet-bridge' : root
  return natsUsers.find((name) => name === service) ?? accountOf(user)
}

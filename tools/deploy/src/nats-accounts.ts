import { renderConfiguration } from '@pitboss/engines/nats/nats-configuration'
import { natsAccounts } from '@pitboss/stack/nats/accounts'
import type { NatsUser } from '@pitboss/stack/nats/permissions'

const head = `# Written by \`npm run deploy:accounts\` from tools/stack/src/nats: the accounts and rights of this release. Public keys
# come from the environment.
`

/** The environment variable that holds the public key of a NATS user. */
export function publicKeyVariable(user: NatsUser): string {
  return `NATS_KEY_${user.toUpperCase().replaceAll('-', '_')}`
}

/**
 * The accounts of NATS in its configuration's own syntax, as `deploy/k8s/nats/accounts.conf` holds them:
 * JSON, but for the public keys, which are references to environment variables.
 */
export function renderNatsAccounts(): string {
  const accounts = natsAccounts.map((account) => ({
    ...account,
    users: account.users.map((user) => ({ ...user, publicKey: `$${publicKeyVariable(user.name)}` })),
  }))
  const whole: { accounts: unknown } = JSON.parse(
    renderConfiguration({ serverName: '', port: 0, monitorPort: 0, storeFolder: '', accounts }),
  )
  const text = JSON.stringify(whole.accounts, null, 2).replace(/"(\$NATS_KEY_[A-Z_]+)"/g, '$1')
  return `${head}accounts: ${text}\n`
}

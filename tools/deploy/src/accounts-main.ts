import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { renderNatsAccounts } from './nats-accounts.ts'

/** `npm run deploy:accounts`: writes the accounts of NATS into the manifests. */
const file = fileURLToPath(new URL('../../../deploy/k8s/nats/accounts.conf', import.meta.url))
writeFileSync(file, renderNatsAccounts())

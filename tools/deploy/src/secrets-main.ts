import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { newSecrets } from './new-secrets.ts'

/**
 * `npm run --silent deploy:secrets -- --namespace N --mongodb-url U | kubectl create -f -`: new secrets on
 * stdout, and nowhere else. `create` refuses to overwrite those of an installation, which its databases need.
 */
const { namespace, mongodbUrl, prefix } = new Command('deploy:secrets')
  .description('Makes the secrets of an installation: NATS keys, master keys, logins of MongoDB.')
  .requiredOption('--namespace <name>', 'namespace of the installation')
  .requiredOption(
    '--mongodb-url <url>',
    "address of MongoDB; {user} and {password} stand for each service's own",
  )
  .option('--prefix <text>', 'PITBOSS_DATABASE_PREFIX', 'pitboss')
  .parse()
  .opts<{ namespace: string; mongodbUrl: string; prefix: string }>()

const items = newSecrets({ namespace, mongodbUrl, prefix, random: randomBytes })
process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`)

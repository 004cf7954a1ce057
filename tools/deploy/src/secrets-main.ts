import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { environmentFile } from './environment-file.ts'
import { newSecrets } from './new-secrets.ts'

/**
 * `npm run --silent deploy:secrets -- --namespace N --mongodb-url U | kubectl create -f -`: new secrets on
 * stdout, and nowhere else. `create` refuses to overwrite those of an installation, which its databases need.
 * With `--env` they are lines of an environment file, as deploy/compose wants them.
 */
const { namespace, mongodbUrl, prefix, env } = new Command('deploy:secrets')
  .description('Makes the secrets of an installation: NATS keys, master keys, logins of MongoDB.')
  .option('--namespace <name>', 'namespace of the installation', 'pitboss')
  .option('--env', 'lines of an environment file instead of manifests', false)
  .requiredOption(
    '--mongodb-url <url>',
    "address of MongoDB; {user} and {password} stand for each service's own",
  )
  .option('--prefix <text>', 'PITBOSS_DATABASE_PREFIX', 'pitboss')
  .parse()
  .opts<{ namespace: string; mongodbUrl: string; prefix: string; env: boolean }>()

const items = newSecrets({ namespace, mongodbUrl, prefix, random: randomBytes })
process.stdout.write(
  env ? environmentFile(items) : `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`,
)

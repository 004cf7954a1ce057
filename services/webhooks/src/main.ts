import { bootService } from '@pitboss/runtime/run-service'
import { runIndexVerb } from '@pitboss/storage/run-index-verb'
import { indexes } from './all-wings.ts'
import { startWebhooks } from './app.ts'
import { configSchema } from './config.ts'

const args = process.argv.slice(2)
if (args.length > 0) process.exitCode = await runIndexVerb({ service: 'webhooks', indexes, args })
else await bootService({ name: 'webhooks', schema: configSchema, start: startWebhooks })

import { bootService } from '@pitboss/runtime/run-service'
import { startWebhooks } from './app.ts'
import { configSchema } from './config.ts'

await bootService({ name: 'webhooks', schema: configSchema, start: startWebhooks })

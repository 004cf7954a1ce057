import { bootService } from '@pitboss/runtime/run-service'
import { runGateway } from './app.ts'
import { configSchema } from './config.ts'

await bootService({ name: 'gateway', schema: configSchema, start: runGateway })

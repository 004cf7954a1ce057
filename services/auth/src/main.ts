import { bootService } from '@pitboss/runtime/run-service'
import { startAuth } from './app.ts'
import { authConfig } from './config.ts'

await bootService({ name: 'auth', schema: authConfig, start: startAuth })

import { bootService } from '@pitboss/runtime/run-service'
import { runIndexVerb } from '@pitboss/storage/run-index-verb'
import { startAuth } from './app.ts'
import { authConfig } from './config.ts'
import { authIndexes } from './storage/auth-stores.ts'

const args = process.argv.slice(2)
if (args.length > 0) process.exitCode = await runIndexVerb({ service: 'auth', indexes: authIndexes, args })
else await bootService({ name: 'auth', schema: authConfig, start: startAuth })

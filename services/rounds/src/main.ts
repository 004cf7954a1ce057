import { bootService } from '@pitboss/runtime/run-service'
import { runIndexVerb } from '@pitboss/storage/run-index-verb'
import { indexes } from './all-wings.ts'
import { startRounds } from './app.ts'
import { roundsConfig } from './config.ts'

const args = process.argv.slice(2)
if (args.length > 0) process.exitCode = await runIndexVerb({ service: 'rounds', indexes, args })
else await bootService({ name: 'rounds', schema: roundsConfig, start: startRounds })

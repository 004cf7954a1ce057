import { startRounds } from '@pitboss/rounds/app'
import { roundsConfig } from '@pitboss/rounds/config'
import { bootService } from '@pitboss/runtime/run-service'
import { bugOfProcess } from './bugs.ts'
import { roundsWith } from './rounds-bugs.ts'

/** The rounds service with the bug that `PITBOSS_BUG` names. */
const proof = roundsWith(bugOfProcess())
await bootService({
  name: 'rounds',
  schema: roundsConfig,
  start: (given) => startRounds({ ...given, proof }),
})

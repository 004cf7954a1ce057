import { startWebhooks } from '@pitboss/webhooks/app'
import { configSchema } from '@pitboss/webhooks/config'
import { bootService } from '@pitboss/runtime/run-service'
import { bugOfProcess } from './bugs.ts'
import { webhooksWith } from './webhooks-bugs.ts'

/** The webhooks service with the bug that `PITBOSS_BUG` names. */
const wrap = webhooksWith(bugOfProcess())
await bootService({
  name: 'webhooks',
  schema: configSchema,
  start: (given) => startWebhooks({ ...given, wrap }),
})

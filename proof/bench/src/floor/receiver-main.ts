import { startReceiver } from '../webhooks/receiver.ts'
import { servePart } from '../harness/serve-part.ts'

/* A receiver of the bare deliveries. */

const { url } = await startReceiver()
servePart({ url }, async () => ({}))

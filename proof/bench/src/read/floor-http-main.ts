import { connectionOptions } from '@pitboss/bus/connection-options'
import fastify from 'fastify'
import { connect } from 'nats'
import { z } from 'zod'
import { given, servePart } from '../harness/serve-part.ts'
import { floorSubject } from './floor-names.ts'

/* The edge of the bare read loop: fastify and a NATS request, nothing else. */

const parameters = z.object({ id: z.string() })
const reply = z.object({ status: z.number(), body: z.record(z.string(), z.unknown()) })
const scope = given('FLOOR_SCOPE')
const timeout = 5000
const bus = await connect(connectionOptions({ url: given('NATS_URL'), service: 'floor-http' }))

const app = fastify({ logger: false })
app.get('/sessions/:id', async (request, answer) => {
  const { id } = parameters.parse(request.params)
  const message = await bus.request(floorSubject, JSON.stringify({ id, scope }), { timeout })
  const { status, body } = reply.parse(message.json())
  return answer.code(status).send(body)
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
servePart({ url }, async () => ({}))

import { connectionOptions } from '@pitboss/bus/connection-options'
import fastify from 'fastify'
import { connect } from 'nats'
import { given, servePart } from '../harness/serve-part.ts'
import { floorPlay, floorPlayed, playSubject } from './play-messages.ts'

/* The bare gateway: HTTP in, NATS out, both checked. */

const bus = await connect(connectionOptions({ url: given('NATS_URL'), service: 'floor-gateway' }))
const app = fastify()
app.post('/play', async (request, reply) => {
  const play = floorPlay.parse(request.body)
  const answer = await bus.request(playSubject, JSON.stringify(play), { timeout: 20_000 })
  return reply.code(201).send(floorPlayed.parse(JSON.parse(answer.string())))
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
servePart({ url }, async () => ({}))

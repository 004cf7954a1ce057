import fastify from 'fastify'
import { servePart } from '../harness/serve-part.ts'

/* The bare edge: fastify that says hello, without token, limit or log. */

const app = fastify({ logger: false })
app.get('/hello', async () => ({ hello: 'world' }))
const url = await app.listen({ host: '127.0.0.1', port: 0 })
servePart({ url }, async () => ({}))

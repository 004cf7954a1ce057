import { isIP } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { z } from 'zod'

const BODY_BYTES_MAX = 256 * 1024

/** A fastify app whose request bodies are the exact bytes received, whatever their content type. */
export function createRawApp(): FastifyInstance {
  const app = fastify({ bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true, exposeHeadRoutes: false })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
  app.addHook('onRequest', async ({ url, headers }, reply) => {
    if (!/^\/(demo|sandbox)([/?]|$)/.test(url) || isOwnHost(headers.host)) return
    await reply.code(421).send({ message: 'This is for 127.0.0.1 and localhost alone.' })
  })
  app.setErrorHandler(async (error, _request, reply) => {
    const statusCode = statusOf(error)
    if (statusCode === 500) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    const details = error instanceof z.ZodError ? error.issues : undefined
    return reply.code(statusCode).send({ status: 'INVALID_REQUEST', message: messageOf(error), details })
  })
  return app
}

/**
 * Whether a request names this server by an address, or as localhost. A page of another site may make a name
 * of its own lead here, and its browser then says that name.
 */
function isOwnHost(host: string | undefined): boolean {
  const url = `http://${host ?? 'localhost'}`
  const name = URL.canParse(url) ? new URL(url).hostname : ''
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || name === 'localhost' || name.endsWith('.localhost')
}

/** The raw body of a request to a raw app; empty when there was none. */
export function rawBody(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** Parses a raw JSON body of the control API. @throws a ZodError or BodyError, answered as 422 */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  return schema.parse(parseJson(rawBody(body)))
}

class BodyError extends Error {}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw new BodyError('the body is not JSON', { cause })
  }
}

function statusOf(error: unknown): number {
  if (error instanceof z.ZodError || error instanceof BodyError) return 422
  if (typeof error === 'object' && error !== null && 'statusCode' in error) {
    const { statusCode } = error
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) return statusCode
  }
  return 500
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error)
  return error instanceof Error ? error.message : 'unknown error'
}

import { nkeyAuthenticator, type ConnectionOptions, type NodeConnectionOptions } from 'nats'
import { newInboxPrefix } from './reply-inbox.ts'

const encoder = new TextEncoder()

/**
 * Connection options from a `nats://` or `tls://` url, or several separated by commas. User and password may
 * be in the url (percent-encoded); the first that has them counts. An nkey seed wins over them.
 * @throws TypeError for a url that cannot be read; the message never repeats it, since it may hold a
 * password.
 */
export function connectionOptions({
  url,
  nkeySeed,
  service,
  patient = true,
}: {
  url: string
  nkeySeed?: string | undefined
  service: string
  patient?: boolean
}): NodeConnectionOptions {
  const urls = url.split(',').map((text) => parseServerUrl(text.trim()))
  const withUser = urls.find((server) => server.username !== '')
  return {
    servers: urls.map((server) => server.host),
    ...(urls.some((server) => server.protocol === 'tls:') ? { tls: {} } : {}),
    ...authentication(withUser, nkeySeed),
    name: service,
    inboxPrefix: newInboxPrefix(service),
    noAsyncTraces: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    waitOnFirstConnect: patient,
    // A server that is not there refuses at once; one that is busy may take its time while a person waits.
    timeout: patient ? 3000 : 10_000,
    // A server that hangs closes nothing: it is given up after three pings without an answer to any.
    pingInterval: 2000,
    maxPingOut: 2,
  }
}

function authentication(url: URL | undefined, nkeySeed: string | undefined): ConnectionOptions {
  if (nkeySeed !== undefined) return { authenticator: nkeyAuthenticator(encoder.encode(nkeySeed)) }
  if (url === undefined) return {}
  return { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
}

function parseServerUrl(text: string): URL {
  const parsed = URL.parse(text.includes('://') ? text : `nats://${text}`)
  if (parsed === null || !['nats:', 'tls:'].includes(parsed.protocol) || parsed.host === '') {
    throw new TypeError('a NATS url must look like nats://user:password@host:4222')
  }
  if (parsed.port === '') parsed.port = '4222'
  return parsed
}

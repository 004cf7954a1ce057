import { BlockList, isIP } from 'node:net'

type Settings = Readonly<Record<string, string | undefined>>
type Problem = { readonly variable: string; readonly problem: string }

/** Settings that production refuses: each makes tests possible and an operator's money less safe. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  PITBOSS_TIME_SCALE: ['1'],
  PITBOSS_ALLOW_LOOPBACK_WEBHOOKS: ['no'],
  PITBOSS_ALLOW_LOOPBACK_WALLETS: ['no'],
  PITBOSS_FAILPOINTS: [],
  PITBOSS_SERVICE_ENTRIES: [],
  NODE_TLS_REJECT_UNAUTHORIZED: ['1'],
}

/** Of 32 random bytes fewer are different, or differ from their neighbour otherwise, never in practice. */
const distinctBytesMin = 16

const meshRemedy = 'or PITBOSS_ENCRYPTED_NETWORK=yes where the network itself encrypts'

/**
 * The settings that production refuses: those of tests, connections in plain text or without a login (but to
 * this machine), proxies of any address, and master keys that nobody drew at random. Values are never
 * repeated: they may hold secrets.
 */
export function productionProblems(settings: Settings): Problem[] {
  const forTests = Object.entries(harmless).flatMap(([variable, texts]) => {
    const text = settings[variable]
    return text === undefined || texts.includes(text) ? [] : [{ variable, problem: refused('') }]
  })
  const given = (variable: string, judge: (text: string) => string | null) => {
    const text = settings[variable]
    const problem = text === undefined ? null : judge(text)
    return problem === null ? [] : [{ variable, problem: refused(problem) }]
  }
  const mayBePlain = settings.PITBOSS_ENCRYPTED_NETWORK === 'yes'
  return [
    ...forTests,
    ...given('NATS_URL', (text) => natsProblem(text, settings.NATS_NKEY_SEED !== undefined, mayBePlain)),
    ...given('MONGODB_URL', (text) => mongodbProblem(text, mayBePlain)),
    ...given('PITBOSS_BASE_URL', baseUrlProblem),
    ...given('PITBOSS_MASTER_KEYS', masterKeysProblem),
    ...given('PITBOSS_TRUSTED_PROXIES', trustedProxiesProblem),
  ]
}

function refused(reason: string): string {
  return `is refused when NODE_ENV=production${reason === '' ? '' : `: ${reason}`}`
}

function natsProblem(text: string, hasSeed: boolean, mayBePlain: boolean): string | null {
  const servers = text.split(',').map((one) => URL.parse(one.trim()))
  const remote = servers.filter((server) => server === null || !isLoopback(server.hostname))
  if (remote.length === 0) return null
  if (!mayBePlain && remote.some((server) => server?.protocol !== 'tls:'))
    return `without TLS; use tls://, ${meshRemedy}`
  if (!hasSeed && !servers.some((server) => (server?.username ?? '') !== ''))
    return 'without a login; set NATS_NKEY_SEED, or a user and password in it'
  return null
}

function partsOfMongodb(text: string) {
  const [, scheme = '', login = '', hosts = '', query = ''] =
    /^(mongodb(?:\+srv)?):\/\/(?:([^@/]*)@)?([^/?]*)\/?[^?]*\??(.*)$/.exec(text) ?? []
  return { scheme, login, hosts, query }
}

/** Whether all servers of a MongoDB URL are this machine. */
export function isLoopbackMongodb(url: string): boolean {
  const { hosts } = partsOfMongodb(url)
  return hosts.split(',').every((host) => isLoopback(host.replace(/:\d+$/, '')))
}

function mongodbProblem(text: string, mayBePlain: boolean): string | null {
  const { scheme, login, query } = partsOfMongodb(text)
  if (isLoopbackMongodb(text)) return null
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value.toLowerCase()]),
  )
  const tls = options.get('tls') ?? options.get('ssl') ?? (scheme === 'mongodb+srv' ? 'true' : 'false')
  if (tls !== 'true' && !mayBePlain) return `without TLS; add tls=true to its query, ${meshRemedy}`
  const unverified = ['tlsinsecure', 'tlsallowinvalidcertificates', 'tlsallowinvalidhostnames']
  if (unverified.some((name) => options.get(name) === 'true'))
    return 'with certificates that nobody checks; drop tlsInsecure and tlsAllowInvalid…, and name your authority in tlsCAFile'
  if (login === '' && options.get('authmechanism') !== 'mongodb-x509')
    return 'without a login; put a user and password in it, or authMechanism=MONGODB-X509'
  return null
}

function baseUrlProblem(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || url.protocol === 'https:' || isLoopback(url.hostname)) return null
  return "without TLS; players' tokens and the dashboard's cookie travel over it: use the https:// address"
}

function trustedProxiesProblem(text: string): string | null {
  const ranges = text.split(',').map((one) => one.trim())
  if (!ranges.some((range) => /\/0+$/.test(range))) return null
  return 'every client would write its own address, past allowlists and limits; name your proxies'
}

function masterKeysProblem(text: string): string | null {
  const keys = text.split(',').map((part) => Buffer.from(part.split(':')[1] ?? '', 'base64'))
  const weak = keys.findIndex((key) => !looksRandom(key))
  return weak < 0 ? null : `key ${weak + 1} is no random one; make it with "openssl rand -base64 32"`
}

function looksRandom(key: Buffer): boolean {
  const steps = [...key].map((byte, index) => (byte - (key[index - 1] ?? 0) + 256) % 256)
  const isText = key.every((byte) => byte >= 0x20 && byte < 0x7f)
  return !isText && new Set(key).size >= distinctBytesMin && new Set(steps).size >= distinctBytesMin
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether a host is this machine: a loopback address, localhost, or a Unix socket's path. */
function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (isIP(bare) !== 0) return loopback.check(bare, isIP(bare) === 4 ? 'ipv4' : 'ipv6')
  return bare === 'localhost' || bare.endsWith('.localhost') || bare.endsWith('.sock')
}

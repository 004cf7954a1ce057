import { randomBytes } from 'node:crypto'
import { createAccessBucket } from '@pitboss/bus/access-bucket'
import { connectServiceBus } from '@pitboss/bus/connect-service-bus'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { systemClock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { createKeyedHash } from '@pitboss/storage/keyed-hash'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createSecretBox } from '@pitboss/storage/secret-box'
import { createAccessNews } from './actions/publish-access-change.ts'
import { createPasswords } from './actions/passwords.ts'
import { createSecondFactor } from './actions/second-factor.ts'
import { createTokenSigner } from './actions/token-signer.ts'
import type { AuthConfig } from './config.ts'
import { businessHandlers } from './calls/business-handlers.ts'
import { credentialHandlers } from './calls/credential-handlers.ts'
import type { AuthDeps } from './calls/deps.ts'
import { loginHandlers } from './calls/login-handlers.ts'
import { opsHandlers } from './calls/ops-handlers.ts'
import { peopleHandlers } from './calls/people-handlers.ts'
import { requestLogHandlers } from './calls/request-log-handlers.ts'
import { tokenHandlers } from './calls/token-handlers.ts'
import { authStores } from './storage/auth-stores.ts'
import { authCollections } from './storage/collections.ts'
import { authIndexes } from './storage/indexes.ts'
import { everySecond } from './workers/every-second.ts'

/** Wires the auth service and starts it. */
export async function startAuth({
  config,
  host,
}: {
  config: AuthConfig
  host: Pick<ServiceHost, 'logger' | 'check' | 'stopping' | 'fail'>
}): Promise<RunningService> {
  const { logger } = host
  const storage = await connectStorage({
    url: config.MONGODB_URL,
    database: `${config.PITBOSS_DATABASE_PREFIX}_auth`,
    logger,
  })
  host.check('database', () => storage.ping())
  await ensureIndexes(storage.db, authIndexes)
  const keyring = await openKeyring(storage.db, config.PITBOSS_MASTER_KEYS)
  const bus = await connectServiceBus({ service: 'auth', config, host })
  host.check('nats', () => bus.connected())

  const bucket = await createAccessBucket({ bus })
  const collections = authCollections(storage.db)
  const cursors = createCursorCodec({ keyring })
  const stores = authStores({ db: storage.db, cursors })
  const box = createSecretBox(keyring, 'auth')
  const clock = systemClock
  const random = (size: number): Uint8Array => randomBytes(size)
  const news = createAccessNews({ db: storage.db, bucket, collections, stores, logger })
  const tokenHash = createKeyedHash(keyring, 'token')
  const deps: AuthDeps = {
    db: storage.db,
    collections,
    stores,
    bus,
    news,
    passwords: await createPasswords(),
    signer: createTokenSigner({ collections, box, clock }),
    secretHash: createKeyedHash(keyring, 'api-secret'),
    tokenHash,
    box,
    cursors,
    clock,
    newId,
    random,
    baseUrl: config.PITBOSS_BASE_URL,
    tokenTtlS: config.PITBOSS_TOKEN_TTL_S,
  }
  const secondFactor = createSecondFactor({ people: stores.people, box, tokenHash, clock, random })
  await deps.signer.keys()
  const workers = [
    everySecond({ name: 'heartbeat', work: () => bucket.heartbeat(), logger }),
    everySecond({ name: 'access-news', work: () => news.sweep(), logger }),
  ]
  const calls = await serveCalls({
    bus,
    service: 'auth',
    version: '0.1.0',
    logger,
    handlers: [
      ...tokenHandlers(deps),
      ...loginHandlers(deps, secondFactor),
      ...peopleHandlers(deps, secondFactor),
      ...credentialHandlers(deps),
      ...businessHandlers(deps),
      ...requestLogHandlers(deps),
      ...opsHandlers(deps),
    ],
  })
  return {
    async stop() {
      await calls.stop()
      await Promise.all(workers.map((worker) => worker.stop()))
      await bus.close()
      await storage.close()
    },
  }
}

import { EngineError, reasonOf } from './engine-error.ts'

export type Attempt = { way: string; outcome: string }

const remedies = {
  mongodb: {
    name: 'MongoDB',
    install: 'install MongoDB 7 or 8 so that "mongod" is on the PATH, or point MONGOD_BIN at it',
    docker:
      "docker run -d -p 127.0.0.1:27017:27017 mongo:8 --replSet rs0 --bind_ip_all && docker exec $(docker ps -lq) mongosh --quiet --eval \"rs.initiate({_id:'rs0',members:[{_id:0,host:'127.0.0.1:27017'}]})\"",
    url: "MONGODB_URL='mongodb://127.0.0.1:27017/?replicaSet=rs0'",
  },
  nats: {
    name: 'NATS',
    install:
      'install nats-server 2.10 or newer (2.12.7 or newer in production) so that it is on the PATH, or point NATS_SERVER_BIN at it',
    docker: 'docker run -d -p 127.0.0.1:4222:4222 nats:2.14 -js',
    url: 'NATS_URL=nats://127.0.0.1:4222',
  },
} as const

/** The one message when no engine can be had: the attempts, and everything a person can do about it. */
function noEngine(engine: keyof typeof remedies, attempts: Attempt[]): EngineError {
  const { name, install, docker, url } = remedies[engine]
  return new EngineError(
    [
      `no ${name} can be started on this machine. Tried, in this order:`,
      ...attempts.map(({ way, outcome }) => `  - ${way}: ${outcome}`),
      'Any one of these helps:',
      `  - ${install}`,
      `  - with Docker: ${docker}`,
      `    and then: ${url}`,
      `  - use a server of your own: ${url.split('=')[0]}=…`,
      '  - on a machine that reaches its package mirror run "npm run engines -- fetch" and copy its cache folder (PITBOSS_CACHE_DIR) here',
    ].join('\n'),
  )
}

/** Tries the ways in order until one works; a failed one is noted for the message. */
export async function firstThatWorks<T>(
  engine: keyof typeof remedies,
  attempts: Attempt[],
  ways: { way: string; use: () => Promise<T> }[],
): Promise<T> {
  for (const { way, use } of ways) {
    try {
      return await use()
    } catch (error) {
      attempts.push({ way, outcome: reasonOf(error) })
    }
  }
  throw noEngine(engine, attempts)
}

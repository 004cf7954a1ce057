import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { environmentFile } from '@pitboss/deploy/environment-file'
import { images } from '@pitboss/deploy/images/image-table'
import { newSecrets } from '@pitboss/deploy/new-secrets'
import { DCLinter } from 'dclint'
import t from 'tap'
import { z } from 'zod'
import { composePath, readCompose } from '../src/compose-file.ts'
import { settingsProblems } from '../src/environment-problems.ts'
import { renderOverlay } from '../src/render-folder.ts'
import { configs } from '../src/services.ts'
import { workloadsOf } from '../src/workloads.ts'

const lines = environmentFile(
  newSecrets({
    namespace: 'pitboss',
    mongodbUrl: 'mongodb://mongodb:27017/?replicaSet=rs0',
    prefix: 'pitboss',
    random: randomBytes,
  }),
)
const compose = readCompose(lines)
const text = readFileSync(composePath, 'utf8')
const ours = images.map(({ name }) => ({ name, service: compose.services[name] }))

const problemsSchema = z.array(
  z.looseObject({ messages: z.array(z.looseObject({ rule: z.string(), message: z.string() })) }),
)

/** What the schema of compose files has against one. */
function schemaProblems(path: string): string[] {
  const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] })
  return problemsSchema
    .parse(linter.lintFiles([path], false))
    .flatMap(({ messages }) => messages)
    .filter(({ rule }) => rule === 'invalid-schema' || rule === 'invalid-yaml')
    .map(({ message }) => message)
}

t.test('the file is one that docker compose takes', (t) => {
  t.strictSame(schemaProblems(composePath), [])
  const broken = join(t.testdir({}), 'compose.yaml')
  writeFileSync(
    broken,
    text.replace('    read_only:', '    readonly:').replace('  read_only: true', '  readonly: true'),
  )
  t.not(schemaProblems(broken).length, 0, 'a wrong key is found')
  t.end()
})

t.test('every process takes the environment that it gets', (t) => {
  for (const { name, service } of ours) {
    const config = configs[name]
    t.ok(config && service, name)
    if (config && service) t.strictSame(settingsProblems(config, service.environment), [], name)
  }
  t.strictSame(compose.unread, [], 'no secret is made for nobody')
  const { gateway, rounds } = configs
  const environment = { ...compose.services.rounds?.environment, PITBOSS_BASE_URL: 'http://127.0.0.1' }
  t.match(rounds && settingsProblems(rounds, environment), [/PITBOSS_BASE_URL is read by nobody/])
  t.match(gateway && settingsProblems(gateway, {}), [/NATS_URL/])
  t.throws(() => readCompose(lines.replace(/^NATS_KEY_AUTH=.*$/m, '')), /NATS_KEY_AUTH/)
  t.end()
})

t.test('an image runs in the same way by itself, by compose and in a cluster', async (t) => {
  const workloads = workloadsOf(await renderOverlay('production'))
  for (const { name, entrypoint, command, folder } of images) {
    const pod = workloads.find(({ labels }) => labels['app.kubernetes.io/name'] === name)?.pod
    const container = pod?.containers[0]
    t.strictSame(container?.command, entrypoint, name)
    t.strictSame(container?.args.slice(0, command.length), command, name)
    const service = compose.services[name]
    t.strictSame(service?.entrypoint, entrypoint, name)
    t.strictSame(service?.command.slice(0, command.length), command, name)
    t.match(service?.build, { dockerfile: 'deploy/Dockerfile', args: { SERVICE: folder } })
    t.match(service, {
      user: '65532:65532',
      read_only: true,
      cap_drop: ['ALL'],
      image: `pitboss/${name}:dev`,
    })
    t.strictSame(service?.security_opt, ['no-new-privileges:true'])
  }
})

t.test('NATS and MongoDB are those of the overlay for a laptop', async (t) => {
  const workloads = workloadsOf(await renderOverlay('dev'))
  const imageOf = (name: string) =>
    workloads.find((workload) => workload.name === name)?.pod.containers[0]?.image
  t.equal(compose.services.nats?.image, `${imageOf('nats')}-alpine`)
  t.equal(compose.services.mongodb?.image, imageOf('mongodb'))
})

import { execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { aptObstacle } from '@pitboss/engines/fetch/private-apt'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import { missingLibraries } from '@pitboss/engines/fetch/missing-libraries'
import t from 'tap'
import { z } from 'zod'
import { blobPath } from '../src/images/oci-layout.ts'
import { filesOf, findCosign, signImage } from '../src/images/sign-image.ts'
import { writeDocuments } from '../src/images/write-documents.ts'
import { productionPackages } from '../src/production-files.ts'
import { buildForTests, root } from './fixtures/build-for-tests.ts'
import { listLayer, readImageConfig, unpackImage } from './fixtures/unpack-image.ts'

const obstacle = aptObstacle()
if (obstacle !== null) {
  t.pass('', { skip: `no images here: ${obstacle}` })
  process.exit(0)
}

const { folder, layout, build } = await buildForTests(t, ['auth', 'webhooks'])
const imageOf = (name: string) => {
  const found = build.images.find(({ spec }) => spec.name === name)
  if (found === undefined) throw new Error(`${name} was not built`)
  return found
}
const auth = imageOf('auth')

await t.test('the same sources give the same digest, and images share their base', async (t) => {
  const again = await buildForTests(t, ['auth'])
  t.strictSame(again.build.images[0]?.built, auth.built)
  const [base, ...layers] = auth.built.layers
  t.strictSame(base, imageOf('webhooks').built.layers[0])
  t.equal(layers.length, 1)
})

await t.test('the image holds what the Dockerfile copies', async (t) => {
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
  const command = /^RUN (node tools\/deploy\/src\/collect-main\.ts .*)$/m.exec(dockerfile)?.[1]
  t.match(dockerfile, /^COPY --from=build \/app \/app$/m)
  const app = join(t.testdir({}), 'app')
  const inPlace = (command ?? '').replace(/^node/, process.execPath).replace(/ \/app$/, ` ${app}`)
  execFileSync('sh', ['-c', inPlace], { cwd: root, env: { ...process.env, SERVICE: 'services/auth' } })
  const layer = await listLayer(layout, auth.built.layers[1]?.digest ?? '')
  const names = layer.map((line) => line.replace(/^\S+ \d+ /, '').replace(/\/$/, ''))
  const copied = execFileSync(
    'find',
    ['app', '-type', 'l', '-printf', '%p -> %l\n', '-o', '-printf', '%p\n'],
    {
      cwd: join(app, '..'),
      encoding: 'utf8',
      maxBuffer: 10e6,
    },
  )
  t.strictSame(names.toSorted(), copied.split('\n').filter(Boolean).toSorted())
  t.ok(names.length > 1000)
})

await t.test('an image has Node, its libraries, and nothing to run or write besides', async (t) => {
  const files = await listLayer(layout, auth.built.layers[0]?.digest ?? '')
  const runnable = files.filter((line) => /^-..x/.test(line)).map((line) => line.split(' ')[2] ?? '')
  t.strictSame(
    runnable.toSorted(),
    [
      'usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
      'usr/lib/x86_64-linux-gnu/libc.so.6',
      'usr/local/bin/node',
    ].filter((name) => process.arch === 'x64' || !name.includes('x86')),
  )
  const all = [...files, ...(await listLayer(layout, auth.built.layers[1]?.digest ?? ''))]
  const isOpen = (line: string) => !line.startsWith('l') && (/^.{8}w/.test(line) || /^.{3,6}s/.test(line))
  t.strictSame(all.filter(isOpen), [], 'nobody but its owner may write a file, and none lends its owner')
  const place = join(t.testdir({}), 'root')
  await unpackImage(layout, 'auth', place)
  const programs = [
    join(place, 'usr/local/bin/node'),
    ...globSync('app/**/*.node', { cwd: place }).map((name) => join(place, name)),
  ]
  t.ok(programs.length > 1, 'Node and the addon')
  t.strictSame(
    missingLibraries(
      programs,
      globSync('usr/lib/*-linux-gnu', { cwd: place }).map((name) => join(place, name)),
    ),
    [],
  )
  t.match(readImageConfig(layout, 'auth'), { User: '65532:65532', WorkingDir: '/app' })
})

const componentSchema = z.looseObject({ 'bom-ref': z.string(), purl: z.string().optional() })
const bomSchema = z.looseObject({
  metadata: z.looseObject({ component: componentSchema }),
  components: z.array(componentSchema),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
})

writeDocuments(root, folder, build, 'urn:pitboss:builder:test')

await t.test('the bill of materials names each package of the image, and is valid', async (t) => {
  const text = readFileSync(join(folder, filesOf('auth').billOfMaterials), 'utf8')
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  t.equal(await validator.validate(text), null)
  t.not(await validator.validate(text.replace('"components"', '"parts"')), null, 'a wrong one is found')
  const bom = bomSchema.parse(JSON.parse(text))
  const place = join(t.testdir({}), 'root')
  await unpackImage(layout, 'auth', place)
  const inImage = globSync('**/package.json', { cwd: join(place, 'app') })
    .map((path) => path.replace(/\/?package\.json$/, ''))
    .filter(
      (path) => /^(services|libs)\/[^/]+$/.test(path) || /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+$/.test(path),
    )
    .filter((path) => !path.startsWith('node_modules/@pitboss/'))
  const debian = globSync('var/lib/dpkg/status.d/*', { cwd: place }).map((path) =>
    path.replace('var/lib/dpkg/status.d', 'debian'),
  )
  t.strictSame(
    bom.components.map((component) => component['bom-ref']).toSorted(),
    [...inImage, ...debian, 'node'].toSorted(),
  )
  t.strictSame(inImage.toSorted(), productionPackages(root, 'services/auth').toSorted())
  t.equal(bom.metadata.component['bom-ref'], auth.built.digest)
  const ours = bom.components.filter((component) => !/node_modules|^debian|^node$/.test(component['bom-ref']))
  t.ok(ours.length > 3)
  t.strictSame(
    ours.filter(({ purl }) => purl !== undefined),
    [],
    'no package of a registry stands for one of ours',
  )
  const start = bom.dependencies.find(({ ref }) => ref === 'services/auth')
  t.ok(start?.dependsOn.includes('libs/bus'))
})

await t.test('a customer verifies an image, and what was changed is not verified', async (t) => {
  const env = { ...process.env, COSIGN_PASSWORD: 'of a test' }
  const cosign = await findCosign(env)
  const keys = t.testdir({ other: {} })
  for (const cwd of [keys, join(keys, 'other')]) await runProgram(cosign, ['generate-key-pair'], { cwd, env })
  const manifest = blobPath(layout, auth.built.digest)
  await signImage({ manifest, folder, name: 'auth', key: join(keys, 'cosign.key'), env })
  const verify = (key = join(keys, 'cosign.pub'), name = 'auth') =>
    runProgram(join(root, 'deploy/verify-image.sh'), [key, folder, name], { env: { ...env, COSIGN: cosign } })
  t.equal(await verify(), `verified: auth@${auth.built.digest}\n`)
  const verified = join(folder, 'verified')
  const statement = z
    .looseObject({ subject: z.array(z.unknown()), predicate: z.unknown() })
    .parse(JSON.parse(readFileSync(join(verified, 'auth.provenance.json'), 'utf8')))
  t.match(statement.subject, [{ digest: { sha256: auth.built.digest.replace('sha256:', '') } }])
  t.match(statement.predicate, JSON.parse(readFileSync(join(folder, filesOf('auth').provenance), 'utf8')))
  t.ok(existsSync(join(verified, 'auth.cdx.json')))

  await t.rejects(verify(join(keys, 'other', 'cosign.pub')), /NOT VERIFIED: the signature of auth/)
  await t.rejects(verify(undefined, 'webhooks'), /NOT VERIFIED: the signature of webhooks/)
  const files = filesOf('auth')
  const kept = join(keys, 'kept.json')
  copyFileSync(join(folder, files.signedProvenance), kept)
  copyFileSync(join(folder, files.signedBillOfMaterials), join(folder, files.signedProvenance))
  await t.rejects(verify(), /NOT VERIFIED: .*provenance/)
  copyFileSync(kept, join(folder, files.signedProvenance))
  t.match(await verify(), /^verified/)
  appendFileSync(blobPath(layout, auth.built.layers[1]?.digest ?? ''), 'x')
  await t.rejects(verify(), /NOT VERIFIED: a file of auth is not what the manifest says/)
})

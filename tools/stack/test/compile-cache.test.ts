import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { superviseProcess } from '../src/supervised-process.ts'

const entry = fileURLToPath(new URL('./fixtures/service-main.ts', import.meta.url))

t.test('a service that is killed leaves compiled files where the runner keeps its own', async (t) => {
  const compileCache = join(t.testdir(), 'compiled')
  const { NODE_COMPILE_CACHE: suites = '' } = process.env
  process.env.NODE_COMPILE_CACHE = compileCache
  t.teardown(() => {
    process.env.NODE_COMPILE_CACHE = suites
  })
  const lines: string[] = []
  const child = superviseProcess({
    spec: { name: 'tested', replica: 1, entry, environment: {}, httpUrl: null },
    output: {
      attach: (_name, stream) => stream.on('data', (chunk: Buffer) => lines.push(chunk.toString())),
      line: () => undefined,
      say: () => undefined,
    },
    onChange: () => undefined,
    onBadConfig: (why) => t.fail(why),
  })
  t.teardown(() => child.stop(5000))
  const compiled = () => (existsSync(compileCache) ? globSync('**/*', { cwd: compileCache }) : [])
  await waitFor(() => lines.join('').includes('service.started') && compiled().length > 10, {
    what: 'the started service has written what it compiled, while it runs',
  })
  t.type(child.pid(), 'number', 'nothing has ended it')
})

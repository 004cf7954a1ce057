import { join } from 'node:path'
import t from 'tap'
import { needsEngines } from '../src/needs-engines.ts'

await t.test(
  'a test file that imports the engines, itself or through a fixture, needs them; another does not',
  async (t) => {
    const folder = t.testdir({
      'pure.test.ts': "import t from 'tap'\nimport { x } from './x.ts'\nnew URL('..', import.meta.url)",
      'x.ts': 'export const x = 1',
      'direct.test.ts': "import { withEngines } from '../src/with-engines.ts'",
      'through.test.ts': "import { service } from './fixtures/service.ts'",
      'started.test.ts': "spawn(process.execPath, [new URL('./fixtures/service.ts', import.meta.url)])",
      fixtures: {
        'service.ts': "import { withEngines } from '../src/with-engines.ts'\nimport '../through.test.ts'",
      },
    })
    t.equal(needsEngines(join(folder, 'pure.test.ts')), false)
    t.equal(needsEngines(join(folder, 'direct.test.ts')), true)
    t.equal(needsEngines(join(folder, 'through.test.ts')), true)
    t.equal(needsEngines(join(folder, 'started.test.ts')), true)
  },
)

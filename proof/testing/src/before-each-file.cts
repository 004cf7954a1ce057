/**
 * Loaded before each test file; takes costs of tap away that our tests have no use for.
 *
 * tap has each process record every file that it loads, for coverage, which is off here, and hooks imports
 * for its mocks, which no test uses: half a second of processor time in each test file and in each service
 * that one starts.
 *
 * An error outside all of a test's awaits is told to the test that runs (error-domain.ts). tap would follow
 * every promise to find the test that made it, which costs up to two thirds of the processor time of a test.
 */
const { registerHooks } = require('node:module') as typeof import('node:module')
const { pathToFileURL } = require('node:url') as typeof import('node:url')

const errorDomain = pathToFileURL(require.resolve('./error-domain.ts')).href
const nothing = 'data:text/javascript,'
const hookOfTap = /\/@tapjs\/(?:processinfo|mock)\/dist\/esm\/import\.mjs$/
const optionOfTap = /"?--import=\S+\/@tapjs\/(?:processinfo|mock)\/dist\/esm\/import\.mjs"?/g

const ownOptions = (process.env.NODE_OPTIONS ?? '').replaceAll(optionOfTap, '').trim()
if (ownOptions === '') delete process.env.NODE_OPTIONS
else process.env.NODE_OPTIONS = ownOptions

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'async-hook-domain') return { url: errorDomain, shortCircuit: true }
    if (hookOfTap.test(specifier)) return { url: nothing, shortCircuit: true }
    return next(specifier, context)
  },
})

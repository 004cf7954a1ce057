import { fileURLToPath } from 'node:url'
import { build, type InlineConfig } from 'vite'

const web = fileURLToPath(new URL('./', import.meta.url))

type Part = { name: string; base: string; pages: string[]; view?: 'preact' | 'react' }

/** One chunk for what is shared, so that it runs in the order of the imports: settings before schemas. */
const shared = { name: 'shared', test: /node_modules|\/libs\/|no-eval/ }

/** Each part is served below its own path and is built into a folder of its own, `dist/<part>`. */
const parts: readonly Part[] = [
  { name: 'play', base: '/play/', pages: ['dice', 'mines', 'spin-bottle', 'index'] },
  { name: 'verify', base: '/v1/public/verify/', pages: ['index'] },
  { name: 'dashboard', base: '/dashboard/', pages: ['index'], view: 'react' },
]

for (const part of parts) await build(configOf(part))

/**
 * Scripts and styles in files of their own, nothing inline: the pages are served under a strict content
 * security policy.
 */
function configOf({ name, base, pages, view = 'preact' }: Part): InlineConfig {
  return {
    root: `${web}${name}`,
    base,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    // Whatever the shell of the builder says.
    define: { 'process.env.NODE_ENV': JSON.stringify('production') },
    oxc: { jsx: { runtime: 'automatic', importSource: view } },
    // The tests' reporter brings an older React, which is not the one of the pages.
    resolve: { dedupe: ['react', 'react-dom'] },
    build: {
      outDir: `${web}dist/${name}`,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        input: pages.map((page) => `${web}${name}/${page}.html`),
        // "use client" of libraries means nothing without a server that renders.
        checks: { moduleLevelDirective: false },
        ...(view === 'react' ? { output: { codeSplitting: { groups: [shared] } } } : {}),
      },
    },
  }
}

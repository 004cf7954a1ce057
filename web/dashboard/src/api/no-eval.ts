import * as z from 'zod'

// Compiled validators need `eval`, which the page policy forbids. This stands before every schema is made.
z.config({ jitless: true })

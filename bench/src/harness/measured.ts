/** What one part of the benchmark gave: for the JSON, and as text. */
export type Measured = { result: object; text: string }

declare module '*.svg' {
  const url: string
  export default url
}
declare module '*.css'
declare module '*.css?inline' {
  const text: string
  export default text
}

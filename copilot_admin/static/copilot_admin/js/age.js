// How long ago something was, in the words of the page's language.

export function ageOf(at, justNow) {
  const minutes = (at - Date.now()) / 60000;
  if (minutes > -1) {
    return justNow;
  }
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });
  return minutes > -60
    ? words.format(Math.ceil(minutes), "minute")
    : minutes > -2880
      ? words.format(Math.ceil(minutes / 60), "hour")
      : words.format(Math.ceil(minutes / 1440), "day");
}

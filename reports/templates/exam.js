// A link to the motion of a trial names a subject: it is shown over the reference, the others are not.
{
  const wanted = decodeURIComponent(location.hash.slice(1));
  const boxes = [...document.querySelectorAll('#motion [name=track]')];
  const labels = new Map(boxes.map(box => [box.closest('label').textContent.trim(), box]));
  if (labels.has(wanted)) for (const [label, box] of labels) {
    const on = box === boxes[0] || label === wanted;
    if (box.checked !== on) box.click();
  }
}

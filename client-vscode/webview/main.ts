import "./style.css";

const line = document.createElement("p");
line.textContent = "The chat is being built; conversations can be used through the Coppice commands.";
document.body.replaceChildren(line);
